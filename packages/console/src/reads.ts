// How pages read: one record, a list in pages, and the session.
import { queryOptions, type UseQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { get, type Page, type ReadRequest, read } from './api.ts'
import { type OrderAndSteps, orderAndSteps } from './order-and-steps.ts'
import { targetOf } from './snippets.ts'

/** More rows than this are not kept: filters find the others. */
const ROWS_MAX = 2_000
/** Of a page, and of a list that has only one: the most that the service lists at once. */
export const PAGE_ROWS = 100

/** The session of this browser; an error for which `isSignedOut` holds without one. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => read(get('/session', {}), signal),
  staleTime: 60_000
})

/** How operators can log in. Not given up when a code has logged in meanwhile: it is read once, and is small. */
export const loginOptionsQuery = queryOptions({
  queryKey: ['login-options'],
  queryFn: () => read(get('/login-options', {})),
  staleTime: Number.POSITIVE_INFINITY
})

/** One record. `refreshMs`: how often it is read again while the page is visible. */
export function useRecord<Answer>(request: ReadRequest<Answer>, refreshMs?: number): UseQueryResult<Answer> {
  return useQuery({
    queryKey: ['record', targetOf(request)],
    queryFn: ({ signal }) => read(request, signal),
    ...(refreshMs === undefined ? {} : { refetchInterval: refreshMs })
  })
}

/** An order and its steps, of one revision. They are read again while the page is visible, every `refreshMs`. */
export function useOrderAndSteps(orderId: string, refreshMs?: number): UseQueryResult<OrderAndSteps> {
  const [order, steps] = [get('/orders/{order_id}', { order_id: orderId }), get('/orders/{order_id}/steps', { order_id: orderId })]
  return useQuery({
    queryKey: ['record', targetOf(order), 'steps'],
    queryFn: ({ signal }) =>
      orderAndSteps(
        () => read(order, signal),
        () => read(steps, signal)
      ),
    ...(refreshMs === undefined ? {} : { refetchInterval: refreshMs })
  })
}

/** What a list shows. */
export interface List<Row> {
  /** Undefined until the first page came. */
  readonly rows: readonly Row[] | undefined
  readonly error: Error | null
  readonly isReading: boolean
  /** When the rows were read, in milliseconds since the epoch by the clock of the browser; 0 before. */
  readonly readAt: number
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
    getNextPageParam: page => page.next_cursor,
    refetchOnWindowFocus: hasOnePage,
    refetchOnReconnect: hasOnePage,
    refetchOnMount: hasOnePage
  })
  const rows = query.data?.pages.flatMap(page => page.data)
  const unanswered = query.data?.pages.flatMap(page => page.unanswered_nodes ?? []) ?? []
  const isAtBound = query.hasNextPage && (rows?.length ?? 0) >= ROWS_MAX
  return {
    ...{ rows, isAtBound, unanswered, error: query.error, isReading: query.isFetching, readAt: query.dataUpdatedAt },
    more: query.hasNextPage && !isAtBound ? () => void query.fetchNextPage() : null,
    again: () => void query.refetch()
  }
}

/** With more pages a list is read again only when it is asked for: each is a request. */
function hasOnePage({ state }: { readonly state: { readonly data: { readonly pages: readonly unknown[] } | undefined } }): boolean {
  return (state.data?.pages.length ?? 0) <= 1
}

const FIRST_PAGE: string | null = null

function pageAt<Row>(request: ReadRequest<Page<Row>>, cursor: string | null): ReadRequest<Page<Row>> {
  return cursor === null ? request : { ...request, query: { ...request.query, cursor } }
}
