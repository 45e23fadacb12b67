// The table of every list: loading, empty, refused, more.
import { type ColumnDef, tableFeatures, useTable } from '@tanstack/react-table'
import { type ReactNode, useMemo } from 'react'
import { Button } from 'react-aria-components/Button'
import { counted } from '../format.ts'
import { type List, PAGE_ROWS } from '../reads.ts'
import { distinctIds } from '../row-ids.ts'
import { Failure, Reading } from './states.tsx'
import { Time } from './values.tsx'

/** A column. On a phone each row is a block, with the names of the columns before its values. */
export interface Column<Row> {
  readonly name: string
  readonly isNumber?: boolean
  readonly cell: (row: Row) => ReactNode
}

interface ListTableProps<Row> {
  /** What the rows are, in lower case and in the plural. */
  readonly what: string
  readonly list: List<Row>
  readonly columns: readonly Column<Row>[]
  readonly idOf: (row: Row) => string
  /** Shown without rows. */
  readonly empty: ReactNode
  /** The service lists one page only, so that a full one may lack some. */
  readonly hasOnePage?: boolean
}

const FEATURES = tableFeatures({})
// Browsers take the meaning from a table whose rows are shown as blocks, so each part says what it is.
const ROLES = {
  ...{ table: { role: 'table' }, group: { role: 'rowgroup' }, row: { role: 'row' } },
  ...{ head: { role: 'columnheader' }, cell: { role: 'cell' } }
} as const

/** A list with all its states. Rows that were read stay while a later page is refused. */
export function ListTable<Row extends object>({ what, list, columns, idOf, empty, hasOnePage = false }: ListTableProps<Row>): ReactNode {
  const { rows, error, more, isReading, again } = list
  if (rows === undefined) return error === null ? <Reading what={what} /> : <Failure error={error} again={again} />
  return (
    <>
      {error !== null && <Failure error={error} again={again} />}
      {rows.length === 0 ? empty : <ScrolledRows what={what} rows={rows} columns={columns} idOf={idOf} />}
      <p className="after" role="status" aria-busy={isReading}>
        {isReading
          ? `Reading ${what}…`
          : `${what.charAt(0).toUpperCase()}${what.slice(1)}: ${counted(rows.length)}${extentOf(rows.length, list, hasOnePage)}. `}
        {!isReading && (
          <>
            Read at <Time at={new Date(list.readAt).toISOString()} />.
          </>
        )}
      </p>
      <div className="buttons">
        {more !== null && (
          <Button className="button" onPress={more} isDisabled={isReading}>
            Show more
          </Button>
        )}
        <Button className="button" onPress={again} isDisabled={isReading}>
          Read again
        </Button>
      </div>
    </>
  )
}

/** Whether there are more rows than those that are shown. */
function extentOf(length: number, { more, isAtBound }: List<unknown>, hasOnePage: boolean): string {
  if (isAtBound) return '. There are more, which this page does not show. Narrow the list with a filter'
  if (hasOnePage && length >= PAGE_ROWS) return ', the most that are listed: there may be more. Narrow the list with a filter'
  return more === null ? ', all that there are' : ''
}

interface RowsProps<Row> {
  readonly rows: readonly Row[]
  /** The same at each render: cells of other columns are other ones, which forget what they had open. */
  readonly columns: readonly Column<Row>[]
  readonly idOf: (row: Row) => string
}

/** The rows of a part of a page, which scroll sideways where they are wider than it. `what`: in lower case and in the plural. */
export function ScrolledRows<Row extends object>({ what, ...rows }: RowsProps<Row> & { readonly what: string }): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls sideways must be reachable by keyboard
    <section className="scroll" tabIndex={0} aria-label={`Table of ${what}`}>
      <Rows {...rows} />
    </section>
  )
}

/** The rows alone. */
export function Rows<Row extends object>({ rows, columns, idOf }: RowsProps<Row>): ReactNode {
  const definitions = useMemo(() => definitionsOf(columns), [columns])
  const ids = useMemo(() => distinctIds(rows.map(idOf)), [rows, idOf])
  const table = useTable({ features: FEATURES, columns: definitions, data: rows, getRowId: (_row, index) => ids[index] ?? String(index) })
  const numbers = new Set(columns.flatMap(({ name, isNumber }) => (isNumber === true ? [name] : [])))
  const classOf = (name: string) => (numbers.has(name) ? 'number' : undefined)
  return (
    <table className="rows" {...ROLES.table}>
      <thead {...ROLES.group}>
        {table.getHeaderGroups().map(group => (
          <tr key={group.id} {...ROLES.row}>
            {group.headers.map(header => (
              <th key={header.id} scope="col" className={classOf(header.column.id)} {...ROLES.head}>
                <table.FlexRender header={header} />
              </th>
            ))}
          </tr>
        ))}
      </thead>
      <tbody {...ROLES.group}>
        {table.getRowModel().rows.map(row => (
          <tr key={row.id} {...ROLES.row}>
            {row.getAllCells().map(cell => (
              <td key={cell.id} className={classOf(cell.column.id)} data-name={cell.column.id} {...ROLES.cell}>
                <div>
                  <table.FlexRender cell={cell} />
                </div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function definitionsOf<Row extends object>(columns: readonly Column<Row>[]): ColumnDef<typeof FEATURES, Row>[] {
  return columns.map(({ name, cell }) => ({ id: name, header: name, cell: ({ row }) => cell(row.original) }))
}
