"""What a reply becomes on its way out: visible text, motions and expressions, speech. No I/O."""
