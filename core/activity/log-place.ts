/** A position in an activity log is the id of an entry in the stream: milliseconds and a number, `1700000000000-0`. */
const PLACE = /^\d{1,15}-\d{1,15}$/

export const isPlace = (text: string): boolean => PLACE.test(text)

export const msOfPlace = (place: string): number => Number(place.slice(0, place.indexOf('-')))

/** The first position that an entry after this one can have. */
export const placeAfter = (place: string): string => {
  const dash = place.indexOf('-')
  return `${place.slice(0, dash)}-${Number(place.slice(dash + 1)) + 1}`
}

/** A position before this one and after all others before it, except for others of the millisecond before. */
export const placeBefore = (place: string): string => {
  const dash = place.indexOf('-')
  const number = Number(place.slice(dash + 1))
  return number > 0 ? `${place.slice(0, dash)}-${number - 1}` : `${msOfPlace(place) - 1}-0`
}

/** Negative when `a` is older. */
export function comparePlaces(a: string, b: string): number {
  const byMs = msOfPlace(a) - msOfPlace(b)
  return byMs !== 0
    ? byMs
    : Number(a.slice(a.indexOf('-') + 1)) - Number(b.slice(b.indexOf('-') + 1))
}
