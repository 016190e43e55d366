"""One public function per number."""
