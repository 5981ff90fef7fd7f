import { inflateRawSync } from 'node:zlib'
import { BLOCK_DICTIONARY } from './block-dictionary.ts'
import { BLOCK_BYTES_MAX, BLOCK_FORM } from './pack-block.ts'

/**
 * The entries of a block as lines of JSON, in the order of the log, without a line feed after the last.
 * @throws if the block is damaged, or has a format that this version does not know
 */
export function expandBlock(block: Buffer): Buffer {
  if (block[0] !== BLOCK_FORM) throw new Error(`unknown form ${block[0]} of a block of the log`)
  return inflateRawSync(block.subarray(1), {
    dictionary: BLOCK_DICTIONARY,
    maxOutputLength: BLOCK_BYTES_MAX,
  })
}
