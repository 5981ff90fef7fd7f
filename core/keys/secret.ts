import { inspect } from 'node:util'

const HIDDEN = '[secret]'

/** A credential in plaintext. Printing it, logging it or putting it into JSON shows only that there is one. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The only access to the text. The caller is responsible for where the text goes. */
  reveal(): string {
    return this.#text
  }

  equals(other: Secret): boolean {
    return this.#text === other.#text
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
