//! Each layer of the crate uses only those below it: every `crate::` path against the table in `lib.rs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The layers in the order of the map, the lowest first.
fn layers() -> Vec<String> {
    let lib = std::fs::read_to_string(source().join("lib.rs")).expect("lib.rs");
    let rows = lib.lines().filter_map(|line| line.strip_prefix("//! | `"));
    rows.filter_map(|row| row.split_once('`')).map(|(layer, _)| layer.to_owned()).collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The first names of all `crate::` paths of a text, those of nested imports (`use crate::{a, b::c}`) too.
fn used_layers(text: &str) -> BTreeSet<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut used = BTreeSet::new();
    for rest in text.split("crate::").skip(1) {
        let Some(inside) = rest.strip_prefix('{') else {
            used.insert(word(rest));
            continue;
        };
        let (mut depth, mut starts_name) = (1, true);
        for (place, character) in inside.char_indices() {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => starts_name = true,
                _ if depth == 1 && starts_name && character.is_alphabetic() => {
                    used.insert(word(&inside[place..]));
                    starts_name = false;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    used
}

/// The code of a file without its comments; links in documentation may point anywhere.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("a source file");
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_module_is_a_layer_of_the_map() {
    let lib = std::fs::read_to_string(source().join("lib.rs")).expect("lib.rs");
    let modules: BTreeSet<String> =
        lib.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).map(str::to_owned).collect();
    assert_eq!(modules, layers().into_iter().collect());
}

#[test]
fn layers_use_only_those_below_them() {
    let layers = layers();
    let height = |layer: &str| layers.iter().position(|known| known == layer);
    let mut paths = Vec::new();
    files(&source(), &mut paths);
    let mut wrong = Vec::new();
    for path in paths.iter().filter(|path| path.file_name().is_some_and(|name| name != "lib.rs")) {
        let inside = path.strip_prefix(source()).expect("inside src");
        let first = inside.components().next().expect("a name").as_os_str().to_string_lossy();
        let layer = first.trim_end_matches(".rs");
        for used in used_layers(&code(path)) {
            let is_below = height(&used).is_some_and(|used| used <= height(layer).expect("a layer"));
            if !is_below {
                wrong.push(format!("{} uses crate::{used}", inside.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn nested_imports_are_read() {
    let text = "use crate::{a::{x, y}, b::z, c};\nuse crate::d::e;\nlet f = crate::g();";
    let found = used_layers(text);
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["a", "b", "c", "d", "g"]);
}
