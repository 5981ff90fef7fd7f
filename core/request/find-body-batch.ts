import { type Batch, isBatchEmpty, nothingFound } from './batch.ts'
import type { BodyReaders } from './body-readers.ts'
import { findFormBatch } from './find-form-batch.ts'
import { type FieldReader, findJsonBatch } from './find-json-batch.ts'
import { findMultipartBatch } from './find-multipart-batch.ts'

/** A part of a batch has a method, and its list one of these names; at a batch endpoint a list may have any name. */
const MAY_NAME_PART = /ethod|verb|"op"|\\u00/i
const MAY_NAME_LIST = /batch|request|operation|action|calls|command|entry|\\u00/i
/** A list of calls in a text that only lenient readers read: with comments, single quotes, bare names, `=>`. */
const LENIENT_LIST =
  /(?:batch|requests?|operations|actions|calls|commands|entry)["'`]?\s*(?::|=>?)\s*\[|^[\s\ufeff\xef\xbb\xbf]*\[/i
const IS_FORM = /form-data/i
const JSON_START = /^[\s\ufeff\xef\xbb\xbf]*[[{]/

/**
 * The calls that a body carries in itself. @param any whether the call is for a batch endpoint
 * @param text the body, one character per byte; of UTF-16 and UTF-32 without zero bytes
 */
export function findBodyBatch(
  body: Buffer,
  text: string,
  content_type: string,
  readers: BodyReaders,
  fields: FieldReader,
  any: boolean,
): Batch | null {
  const found = nothingFound()
  if (readers.multipart) findMultipartBatch(text, found, fields, IS_FORM.test(content_type), any)
  if (readers.form) findFormBatch(text, found, fields, any)
  if (mayHoldBatch(text, any) && JSON_START.test(text))
    if (!findJsonBatch(body, found, fields, any) && LENIENT_LIST.test(text)) found.unread ??= 'body'
  return isBatchEmpty(found) ? null : found
}

const mayHoldBatch = (text: string, any: boolean): boolean =>
  any || (MAY_NAME_PART.test(text) && MAY_NAME_LIST.test(text))
