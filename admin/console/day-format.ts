/** A local date without its year, such as `Nov 22`. */
export const DAY_FORMAT: Intl.DateTimeFormat = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
})
