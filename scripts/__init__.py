"""Programs for whoever works on pet_mode, and what pet.py needs before anything is installed."""
