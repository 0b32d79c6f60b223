"""What the models are told: routes, composed messages and prompts."""
