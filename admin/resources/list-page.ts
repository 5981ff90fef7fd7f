import { chunksOf } from '../../core/system/chunks-of.ts'
import type { RedisClient } from '../../core/redis/run-script.ts'
import { LIST_DEFAULT, type PageQuery } from '../http/common-schemas.ts'
import { type Answer, type Refusal, answer } from '../http/outcome.ts'
import { BULK_LIMIT } from './bulk-limit.ts'
import { compareListPlaces, type ListPlace, NO_CURSOR, readCursor, writeCursor } from './cursor.ts'
import { type Listed, NEWER } from './records.ts'

/** Records per read: as many more as are read quickly, since a record may have 260 kB. */
const CHUNK_MIN = 25
const CHUNK = 500
const QUICK_MS = 10
/** A page ends with the record with which it has so many characters of JSON. */
const PAGE_CHARACTERS = 4 << 20

export interface ListSource<T> {
  readonly redis: RedisClient
  /** Sorted set id by epoch of creation. */
  readonly index: string
  /** The matching ids if a filter has an index of its own, so that the rest is not read. */
  readonly among?: readonly string[]
  /** Records in the order of the ids. */
  readonly read: (ids: readonly string[]) => Promise<readonly Listed<T>[]>
  /**
   * A filter; it is applied before the page is cut, so that every page but the last is full or long. Records of a newer version
   * are named whether they match or not.
   */
  readonly matches?: (record: T) => boolean
}

/** One page of a list, newest first. */
export async function listPage<T>(
  source: ListSource<T>,
  query: PageQuery,
  show: (records: readonly T[]) => unknown[] | Promise<unknown[]>,
): Promise<Answer | Refusal> {
  const start = query.cursor === undefined ? null : readCursor(query.cursor)
  if (query.cursor !== undefined && start === null) return NO_CURSOR
  const limit = query.limit ?? LIST_DEFAULT
  const found: { readonly place: ListPlace; readonly record: T | typeof NEWER }[] = []
  const next =
    source.among === undefined ? alongIndex(source) : await amongIds(source, source.among)
  let place = start
  let exhausted = false
  let chunk = CHUNK_MIN
  let characters = 0
  while (found.length <= limit && !exhausted && characters < PAGE_CHARACTERS) {
    const missing = limit + 1 - found.length
    const places = await next(place, source.matches ? chunk : Math.min(chunk, missing))
    exhausted = places.length === 0
    place = places.at(-1) ?? place
    const began_ms = performance.now()
    const records = exhausted ? [] : await source.read(places.map(({ member }) => member))
    const isQuick = performance.now() - began_ms < QUICK_MS
    chunk = Math.min(CHUNK, Math.max(CHUNK_MIN, isQuick ? chunk * 2 : Math.ceil(chunk / 2)))
    for (const [i, at] of places.entries()) {
      const record = records[i] ?? null
      if (record === null) continue
      if (record !== NEWER && source.matches?.(record) === false) continue
      found.push({ place: at, record })
      if (record !== NEWER) characters += JSON.stringify(record).length
      if (characters >= PAGE_CHARACTERS) break
    }
  }
  const page = found.slice(0, limit)
  const last = found.length > limit || !exhausted ? page.at(-1) : undefined
  const unreadable = page.flatMap(({ record, place: { member } }) =>
    record === NEWER ? [member] : [],
  )
  return answer(200, {
    data: await show(page.flatMap(({ record }) => (record === NEWER ? [] : [record]))),
    next_cursor: last === undefined ? null : writeCursor(last.place),
    ...(unreadable.length > 0 && { unreadable }),
  })
}

/** Index entries after a position. */
type Next = (after: ListPlace | null, count: number) => Promise<readonly ListPlace[]>

/** Those that one change has created have the same score: as many more are read. */
const alongIndex =
  ({ redis, index }: Pick<ListSource<unknown>, 'redis' | 'index'>): Next =>
  async (after, count) => {
    const from = after?.score ?? '+inf'
    const texts = await redis.zrevrangebyscore(
      index,
      from,
      '-inf',
      'WITHSCORES',
      'LIMIT',
      0,
      count + BULK_LIMIT,
    )
    const places: ListPlace[] = []
    for (let i = 0; i + 1 < texts.length; i += 2) {
      const place = { member: String(texts[i]), score: String(texts[i + 1]) }
      if (after === null || compareListPlaces(place, after) > 0) places.push(place)
    }
    return places.slice(0, count)
  }

async function amongIds(
  { redis, index }: Pick<ListSource<unknown>, 'redis' | 'index'>,
  ids: readonly string[],
): Promise<Next> {
  const places: ListPlace[] = []
  for (const some of chunksOf(ids, CHUNK)) {
    const scores = await redis.zmscore(index, ...some)
    for (const [i, member] of some.entries()) {
      const score = scores[i]
      if (score != null) places.push({ score: String(score), member })
    }
  }
  places.sort(compareListPlaces)
  return async (after, count) => {
    const rest =
      after === null ? places : places.filter((place) => compareListPlaces(place, after) > 0)
    return rest.slice(0, count)
  }
}
