import { inspect } from 'node:util'

const HIDDEN = '[secret]'

/** A credential in the clear. Printing it, logging it or putting it into JSON shows only that there is one. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The one way to the text; whoever calls it answers for where the text goes. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    return HIDDEN
  }

  toJSON(): string {
    return HIDDEN
  }

  [inspect.custom](): string {
    return HIDDEN
  }
}
