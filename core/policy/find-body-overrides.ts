import { bodyReaders } from './body-readers.ts'
import { findFormOverrides } from './find-form-overrides.ts'
import { findJsonOverrides } from './find-json-overrides.ts'
import { findMultipartOverrides } from './find-multipart-overrides.ts'
import { type FoundOverrides, isEmpty, NO_OVERRIDES, type Overrides } from './overrides.ts'

const SAYS_JSON = /json/i

/**
 * The overrides in a body that web frameworks act on: fields of a form or multipart form, and top-level members of a JSON
 * object. @param content_type as the caller sent it; empty if there is none
 */
export function findBodyOverrides(body: Buffer, content_type: string): Overrides {
  const readers = bodyReaders(content_type)
  const found: FoundOverrides = { methods: [], addresses: [] }
  if (readers.form || readers.multipart) {
    const text = body.toString('latin1')
    if (readers.form) findFormOverrides(text, found)
    if (readers.multipart) findMultipartOverrides(text, found)
  }
  findJsonOverrides(body, found, SAYS_JSON.test(content_type))
  return isEmpty(found) ? NO_OVERRIDES : found
}
