// marker
