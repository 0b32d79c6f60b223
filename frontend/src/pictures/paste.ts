/**
 * Whether a paste that holds files is meant as text all the same: office programs and spreadsheets add a picture
 * of what they copy to its plain and its formatted text. A file manager adds the file's name alone, a browser
 * the formatted text alone.
 */
export function meansText(types: readonly string[]): boolean {
  return types.includes("text/plain") && (types.includes("text/html") || types.includes("text/rtf"));
}
