import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { ALL_WORDS, BUILT_IN_PATTERNS } from '../patterns/built-in.ts'
import { compileSieve } from './compile-sieve.ts'
import { SIEVE_FILE, writeSieve } from './stored-sieve.ts'

/** Run by the build. */
mkdirSync(dirname(SIEVE_FILE), { recursive: true })
writeFileSync(
  SIEVE_FILE,
  writeSieve(compileSieve(BUILT_IN_PATTERNS, ALL_WORDS), BUILT_IN_PATTERNS, ALL_WORDS),
)
