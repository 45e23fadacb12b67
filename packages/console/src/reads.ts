// How pages read: one record, a list in pages, and the session.
import { queryOptions, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { get, type Page, type ReadRequest, read } from './api.ts'
import { targetOf } from './snippets.ts'

/** More rows than this are not kept: filters find the others. */
export const ROWS_MAX = 2_000
/** Of a page, and of a list that has only one: the most that the service lists at once. */
export const PAGE_ROWS = 100

/** The session of this browser; an error with status 401 without one. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => read(get('/session', {}), signal),
  staleTime: 60_000
})

/** One record. `refreshMs`: how often it is read again while the page is visible. */
export function useRecord<Answer>(request: ReadRequest<Answer>, refreshMs?: number): UseQueryResult<Answer> {
  return useQuery({
    queryKey: ['record', targetOf(request)],
    queryFn: ({ signal }) => read(request, signal),
    ...(refreshMs === undefined ? {} : { refetchInterval: refreshMs })
  })
}

/** What a list shows. */
export interface List<Row> {
  /** Undefined until the first page came. */
  readonly rows: readonly Row[] | undefined
  readonly error: Error | null
  readonly isReading: boolean
  /** Null on the last page, and at the bound. */
  readonly more: (() => void) | null
  readonly isAtBound: boolean
  readonly again: () => void
  /** Nodes whose rows are missing, in lists that nodes have in memory. */
  readonly unanswered: readonly string[]
}

/** A list in pages. Rows of another filter are gone at once: they could be taken for those of the new one. */
export function useList<Row>(request: ReadRequest<Page<Row>>): List<Row> {
  const query = useInfiniteQuery({
    queryKey: ['list', targetOf(request)],
    queryFn: ({ signal, pageParam }) => read(pageAt(request, pageParam), signal),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: page => page.next_cursor
  })
  const rows = query.data?.pages.flatMap(page => page.data)
  const unanswered = query.data?.pages.flatMap(page => page.unanswered_nodes ?? []) ?? []
  const isAtBound = query.hasNextPage && (rows?.length ?? 0) >= ROWS_MAX
  return {
    ...{ rows, isAtBound, unanswered, error: query.error, isReading: query.isFetching },
    more: query.hasNextPage && !isAtBound ? () => void query.fetchNextPage() : null,
    again: () => void query.refetch()
  }
}

const FIRST_PAGE: string | null = null

function pageAt<Row>(request: ReadRequest<Page<Row>>, cursor: string | null): ReadRequest<Page<Row>> {
  return cursor === null ? request : { ...request, query: { ...request.query, cursor } }
}
