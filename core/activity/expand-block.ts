import { inflateRawSync } from 'node:zlib'
import { BLOCK_DICTIONARY } from './block-dictionary.ts'
import { BLOCK_BYTES_MAX, BLOCK_FORM } from './pack-block.ts'

/** Blocks of calls grow to some 13 times their length. A buffer that is too short costs a copy of everything. */
const EXPECTED_GROWTH = 16
const CHUNK_BYTES_MIN = 1_024
const CHUNK_BYTES_MAX = 131_072

/**
 * The entries of a block as lines of JSON, in the order of the log, without a line feed after the last.
 * @throws if the block is damaged, or has a format that this version does not know
 */
export function expandBlock(block: Buffer): Buffer {
  if (block[0] !== BLOCK_FORM) throw new Error(`unknown form ${block[0]} of a block of the log`)
  const expected = block.length * EXPECTED_GROWTH
  const chunkSize = Math.min(Math.max(expected, CHUNK_BYTES_MIN), CHUNK_BYTES_MAX)
  const expanded = inflateRawSync(block.subarray(1), {
    dictionary: BLOCK_DICTIONARY,
    maxOutputLength: BLOCK_BYTES_MAX,
    chunkSize,
  })
  // Otherwise the few bytes of a block that grows less would keep the whole buffer in memory.
  return expanded.length < chunkSize / 2 ? Buffer.from(expanded) : expanded
}
