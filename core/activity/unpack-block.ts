import { expandBlock } from './expand-block.ts'

/** The entries of a block as JSON, in the order of the log. @throws as expandBlock does */
export const unpackBlock = (block: Buffer): readonly string[] =>
  expandBlock(block).toString('utf8').split('\n')
