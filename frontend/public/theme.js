// Before the first paint, so that a dark page never flashes white: the rest is in src/theme/theme.ts.
try {
  const chosen = localStorage.getItem("pet.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // No storage: as the system has it.
}
