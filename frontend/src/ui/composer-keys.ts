/** What of a key event decides whether Enter sends. */
export interface KeyPress {
  readonly key: string;
  readonly keyCode: number;
  readonly isComposing: boolean;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
  readonly timeStamp: number;
}

/** The key code that browsers give to every key that an input method has taken. */
const TAKEN_BY_INPUT_METHOD = 229;
/** Safari ends the composition just before it reports the Enter that ended it. */
const SAME_KEYSTROKE_MS = 30;

/** True while the key belongs to an input method and must do nothing else. */
export function isComposing(press: KeyPress, compositionEndedAt: number): boolean {
  return (
    press.isComposing ||
    press.keyCode === TAKEN_BY_INPUT_METHOD ||
    press.timeStamp - compositionEndedAt < SAME_KEYSTROKE_MS
  );
}

/** Enter sends, Shift + Enter breaks the line, and an input method's Enter only chooses its word. */
export function sends(press: KeyPress, compositionEndedAt: number): boolean {
  if (press.key !== "Enter" || press.shiftKey || press.altKey) return false;
  return !isComposing(press, compositionEndedAt);
}
