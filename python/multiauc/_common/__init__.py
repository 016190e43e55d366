"""What every layer uses: the metric registry, wording, hints, progress, the base of results."""
