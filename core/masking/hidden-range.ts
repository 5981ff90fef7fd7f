/** The masked range of a text: from `start` up to `end`, in UTF-16 code units. */
export interface HiddenRange {
  readonly start: number
  readonly end: number
}
