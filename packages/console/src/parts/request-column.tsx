// The last column of a list whose records can be read one by one.
import type { ApiRequest } from '../snippets.ts'
import { CopyRowRequest } from './copy.tsx'
import type { Column } from './table.tsx'

/** `whatOf` names a record for screen readers. */
export function requestColumn<Row>(whatOf: (row: Row) => string, requestOf: (row: Row) => ApiRequest): Column<Row> {
  return { name: 'Copy as', cell: row => <CopyRowRequest request={requestOf(row)} what={whatOf(row)} /> }
}
