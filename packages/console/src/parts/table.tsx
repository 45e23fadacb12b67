// The table of every list: loading, empty, refused, more.
import { type ColumnDef, tableFeatures, useTable } from '@tanstack/react-table'
import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { counted } from '../format.ts'
import { type List, ROWS_MAX } from '../reads.ts'
import { Failure, Reading } from './states.tsx'

/** A column. `isWide`: left out on a phone; the row's own page has it. */
export interface Column<Row> {
  readonly name: string
  readonly isWide?: boolean
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
}

const FEATURES = tableFeatures({})

/** A list with all its states. Rows that were read stay while a later page is refused. */
export function ListTable<Row extends object>({ what, list, columns, idOf, empty }: ListTableProps<Row>): ReactNode {
  const { rows, error, more, isReading, isAtBound, again } = list
  if (rows === undefined) return error === null ? <Reading what={what} /> : <Failure error={error} again={again} />
  return (
    <>
      {error !== null && <Failure error={error} again={again} />}
      {rows.length === 0 ? (
        empty
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls sideways must be reachable by keyboard
        <section className="scroll" tabIndex={0} aria-label={`Table of ${what}`}>
          <Rows rows={rows} columns={columns} idOf={idOf} />
        </section>
      )}
      <p className="after" role="status">
        {isReading ? `Reading ${what}…` : `${counted(rows.length)} ${what}${more === null && !isAtBound ? ', all that there are' : ''}`}
        {isAtBound && `: more than ${counted(ROWS_MAX)} are not shown. Narrow the list with a filter.`}
      </p>
      {more !== null && (
        <Button className="button" onPress={more} isDisabled={isReading}>
          Show more
        </Button>
      )}
    </>
  )
}

/** The rows alone, for parts of pages. */
export function Rows<Row extends object>({
  rows,
  columns,
  idOf
}: {
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly idOf: (row: Row) => string
}): ReactNode {
  const definitions: ColumnDef<typeof FEATURES, Row>[] = columns.map(({ name, cell }) => ({
    ...{ id: name, header: name },
    cell: ({ row }) => cell(row.original)
  }))
  const table = useTable({ features: FEATURES, columns: definitions, data: rows, getRowId: idOf })
  const classOf = (name: string) => {
    const column = columns.find(each => each.name === name)
    return [column?.isWide === true ? 'wide' : '', column?.isNumber === true ? 'number' : ''].filter(each => each !== '').join(' ')
  }
  return (
    <table>
      <thead>
        {table.getHeaderGroups().map(group => (
          <tr key={group.id}>
            {group.headers.map(header => (
              <th key={header.id} scope="col" className={classOf(header.column.id)}>
                <table.FlexRender header={header} />
              </th>
            ))}
          </tr>
        ))}
      </thead>
      <tbody>
        {table.getRowModel().rows.map(row => (
          <tr key={row.id}>
            {row.getAllCells().map(cell => (
              <td key={cell.id} className={classOf(cell.column.id)}>
                <table.FlexRender cell={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
