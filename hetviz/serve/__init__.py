"""Running the app for others: configuration, what guards each request, health, people, upkeep."""
