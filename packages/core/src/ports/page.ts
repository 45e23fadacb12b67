// Pages of lists.
/** A page addressed by the values of its edge row, never by number, so that rows inserted meanwhile neither shift nor repeat it. */
export interface PageRequest {
  readonly limit: number
  /** The edge row's values (sort column, then unique column) and the side of it to return; null: from the start. */
  readonly edge: { readonly side: 'after' | 'before'; readonly key: readonly string[] } | null
  readonly descending: boolean
}

export interface Page<T> {
  /** In the requested order, on either side of the edge. */
  readonly rows: readonly T[]
  /** Key of the last row if more follow, and of the first row if more precede. */
  readonly next: readonly string[] | null
  readonly prev: readonly string[] | null
}
