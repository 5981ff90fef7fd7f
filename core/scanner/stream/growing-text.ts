/** Maximum number of positions whose texts are joined over events; APIs stream into one or two. Further ones share one text. */
export const GROWING_TEXTS_MAX = 64
/** Strings that repeat unchanged in every event (ids, model names) are not a growing text. */
const REPEATED_CHARACTERS = 8

/** Whether a text only repeats what the event before had at its position. */
export const isRepeated = (text: string, last: string): boolean =>
  text === last && text.length >= REPEATED_CHARACTERS

/** Where a text at a position of the events of a response is, without the numbers that only distinguish positions. */
export const locationAt = (path: string): string => `response.body${path.replace(/#\d+/g, '')}`
