import { eventRow } from '../../core/catalogue/events.ts'

/** The display name of an event; an event of a newer version is shown by its id. */
export const eventTitle = (event: string): string => eventRow(event)?.title ?? event
