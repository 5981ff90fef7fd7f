import type { ComponentChildren } from 'preact'
import { unreadableText } from '../../../core/system/unreadable-text.ts'
import type { Paged } from '../use-load.ts'
import { LoadMore } from './load-more.tsx'
import { Loaded } from './notices.tsx'

export interface Column<T> {
  readonly head: string
  readonly cell: (row: T) => ComponentChildren
  /** Numbers are right-aligned. */
  readonly isNumber?: boolean
  /** Left out where the table would be too wide with it. */
  readonly isExtra?: boolean
}

const classOf = ({ isNumber, isExtra }: Pick<Column<never>, 'isNumber' | 'isExtra'>): string =>
  `${isNumber ? 'number' : ''} ${isExtra ? 'extra' : ''}`.trim()

/** Rows. On a narrow screen each becomes a card; ARIA roles keep the table semantics. */
export function Table<T>({
  caption,
  rows,
  columns,
  keyOf,
  empty,
}: {
  caption: string
  rows: readonly T[]
  columns: readonly Column<T>[]
  keyOf: (row: T) => string
  empty: ComponentChildren
}) {
  if (rows.length === 0) return <p class="empty">{empty}</p>
  return (
    <table role="table">
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ head, ...kind }) => (
            <th key={head} role="columnheader" scope="col" class={classOf(kind)}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row">
            {columns.map(({ head, cell, ...kind }) => (
              <td key={head} role="cell" data-head={head} class={classOf(kind)}>
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

type TableProps<T> = Parameters<typeof Table<T>>[0]

/** A table, and below it what belongs to the list and cannot be shown. */
export function ReadableTable<T>({
  noun,
  unreadable = [],
  ...table
}: { noun: string; unreadable: readonly string[] | undefined } & TableProps<T>) {
  return (
    <>
      {(table.rows.length > 0 || unreadable.length === 0) && <Table {...table} />}
      {unreadable.length > 0 && (
        <p class="notice warn" role="status">
          {unreadableText(noun, unreadable)}
        </p>
      )}
    </>
  )
}

/** A table of a paged list. */
export function PagedTable<T>({
  pages,
  ...table
}: { pages: Paged<T> } & Omit<TableProps<T>, 'rows'>) {
  return (
    <Loaded from={pages}>
      {(rows) => (
        <>
          <ReadableTable
            {...table}
            rows={rows}
            noun={table.caption.toLowerCase().replace(/s$/, '')}
            unreadable={pages.unreadable}
          />
          <LoadMore of={pages.more} />
        </>
      )}
    </Loaded>
  )
}
