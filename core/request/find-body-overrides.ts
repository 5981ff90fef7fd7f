import { type BodyReaders, bodyReaders } from './body-readers.ts'
import { findBodyBatch } from './find-body-batch.ts'
import { findFormOverrides } from './find-form-overrides.ts'
import { findJsonOverrides } from './find-json-overrides.ts'
import { findMultipartOverrides } from './find-multipart-overrides.ts'
import { isEmpty, NO_OVERRIDES, noneFound, type Overrides } from './overrides.ts'

const SAYS_JSON = /json/i
/** Bytes of a character of UTF-32. */
const WIDEST_BYTES = 4

/**
 * The overrides in a body that web frameworks act on: fields of a form or multipart form, and top-level members of a JSON
 * object; and the calls of a batch. @param content_type as the caller sent it; empty if there is none
 * @param is_batch_path whether the call is for a batch endpoint (`isBatchPath`)
 */
export function findBodyOverrides(
  body: Buffer,
  content_type: string,
  is_batch_path = false,
): Overrides {
  const readers = bodyReaders(content_type)
  const text = body.toString('latin1')
  const fields = findFields(body, text, content_type, readers)
  if (readers.is_inert && !(is_batch_path && readers.is_binary)) return fields
  const narrow = body.subarray(0, WIDEST_BYTES).includes(0) ? text.replaceAll('\0', '') : text
  const batch = findBodyBatch(body, narrow, content_type, readers, fieldsOf, is_batch_path)
  return batch === null ? fields : { ...fields, batch }
}

/** Of the body of a part, whose type may be unknown. */
const fieldsOf = (text: string): Overrides => {
  const body = Buffer.from(text)
  return findFields(body, body.toString('latin1'), '', bodyReaders(''))
}

function findFields(
  body: Buffer,
  text: string,
  content_type: string,
  readers: BodyReaders,
): Overrides {
  const found = noneFound()
  if (readers.form) findFormOverrides(text, found)
  if (readers.multipart) findMultipartOverrides(text, found)
  findJsonOverrides(body, found, SAYS_JSON.test(content_type))
  return isEmpty(found) ? NO_OVERRIDES : found
}
