//! Text with a delimiter between its cells: which delimiter that is.

/// How many records are looked at.
const SEEN_RECORDS: usize = 20;

/// Where a byte of a text stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    RecordStart,
    CellStart,
    Cell,
    Quoted,
    /// Behind a quote inside a quoted cell: its end, or the first of two that stand for one.
    QuoteInside,
}

/// The delimiter of a text: of these, the one that cuts its first records into most cells, all of them alike.
///
/// Where no delimiter does, the one that cuts the first record into most cells; of equal ones the first. `is_cut` says
/// that more text follows, so the last record may be incomplete.
#[must_use]
pub fn detect_delimiter(text: &[u8], delimiters: &[u8], is_cut: bool) -> Option<u8> {
    let fit = |delimiter: u8| {
        // Less well if quotes are left in the midst of cells.
        [true, false].map(|strict| {
            let widths = widths(text, delimiter, strict, is_cut);
            let first = widths.first().copied().unwrap_or(0);
            let are_alike = first > 1 && widths.iter().all(|&width| width == first);
            (u8::from(are_alike) * (1 + u8::from(strict)), first)
        })
    };
    let best = delimiters.iter().map(|&delimiter| fit(delimiter).into_iter().max()).max()?;
    delimiters.iter().copied().find(|&delimiter| fit(delimiter).into_iter().max() == best)
}

/// How many cells the first records have, as far as they can be read; `strict` refuses text behind a closing quote.
fn widths(text: &[u8], delimiter: u8, strict: bool, is_cut: bool) -> Vec<usize> {
    let (mut widths, mut width, mut place) = (Vec::new(), 1, Place::RecordStart);
    let mut is_wrong = false;
    for &byte in text {
        place = match (place, byte) {
            (Place::Quoted, b'"') => Place::QuoteInside,
            (Place::Quoted, _) | (Place::QuoteInside | Place::RecordStart | Place::CellStart, b'"') => Place::Quoted,
            (Place::RecordStart, b'\n' | b'\r') => Place::RecordStart,
            (_, b'\n' | b'\r') => {
                widths.push(width);
                if widths.len() == SEEN_RECORDS {
                    return widths;
                }
                width = 1;
                Place::RecordStart
            }
            (_, byte) if byte == delimiter => {
                width += 1;
                Place::CellStart
            }
            (Place::QuoteInside, _) if strict => {
                is_wrong = true;
                break;
            }
            _ => Place::Cell,
        };
    }
    if is_wrong || (strict && place == Place::Quoted) {
        return if is_cut { widths } else { Vec::new() };
    }
    if place != Place::RecordStart {
        widths.push(width);
    }
    if is_cut && widths.len() > 1 {
        widths.pop();
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(text: &str) -> Option<char> {
        detect_delimiter(text.as_bytes(), b",\t;|", false).map(char::from)
    }

    #[test]
    fn records_of_the_same_width_decide() {
        assert_eq!(detect("y;p_a;p_b\ncat;0,5;0,5\n"), Some(';'));
        assert_eq!(detect("y,p_a;b,p_c;d\r\ncat,1,2\r\n"), Some(','));
        assert_eq!(detect("\n\ny;p\na;1"), Some(';'));
        assert_eq!(detect("y,p_a,p_b\na,1,2\na,1,2,3\n"), Some(','));
        assert_eq!(detect(""), Some(','));
    }

    #[test]
    fn delimiters_in_quotes_do_not_count() {
        assert_eq!(detect("y,\"p;a;b;c;d\",p_b\na,1,2\n"), Some(','));
        assert_eq!(detect("y,\"p \"\";\"\" a\",p_b\n\"a\nb\",1,2\n"), Some(','));
    }

    #[test]
    fn the_last_record_of_a_text_that_is_cut_is_left_out() {
        assert_eq!(detect_delimiter(b"a;b,c,d\n1;2\n1;2,", b",;", true), Some(b';'));
    }
}
