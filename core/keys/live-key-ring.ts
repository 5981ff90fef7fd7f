import type { KeyRing } from './seal.ts'

/** A key ring whose keys and primary key can change while the process runs. */
export class LiveKeyRing implements KeyRing {
  #primary_id: string
  #keys: ReadonlyMap<string, Buffer>

  constructor({ primary_id, keys }: KeyRing) {
    this.#primary_id = primary_id
    this.#keys = keys
  }

  get primary_id(): string {
    return this.#primary_id
  }

  get keys(): ReadonlyMap<string, Buffer> {
    return this.#keys
  }

  /** Makes this key of the ring the one that encrypts. */
  use(key_id: string): void {
    if (!this.#keys.has(key_id)) throw new Error(`key ${key_id} is not in the key ring`)
    this.#primary_id = key_id
  }

  /** Adds keys. A key that was removed from the setting may still be needed, so none is dropped. */
  add({ primary_id, keys }: KeyRing): void {
    this.replace({ primary_id, keys: new Map([...this.#keys, ...keys]) })
  }

  /** Takes over the keys of another ring. The primary key stays the same if it is one of them. */
  replace({ primary_id, keys }: KeyRing): void {
    this.#keys = keys
    if (!keys.has(this.#primary_id)) this.#primary_id = primary_id
  }
}
