"""Pictures composed on this machine from a hero: what the provider `local` draws."""
