// Search by one exact id, of any kind.
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get } from '../api.ts'
import type { SearchHit } from '../generated/admin.ts'
import { CopyRowRequest, CopyText } from '../parts/copy.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Failure, Reading } from '../parts/states.tsx'
import { useRecord } from '../reads.ts'

const route = getRouteApi('/search')

/** What an id names. */
export function SearchPage(): ReactNode {
  const { q } = route.useSearch()
  return q === undefined ? (
    <Page title="Search">
      <Empty>
        <p>Type an id above: of a platform, user, connection, account, order or request.</p>
      </Empty>
    </Page>
  ) : (
    <Results q={q} />
  )
}

function Results({ q }: { readonly q: string }): ReactNode {
  const request = get('/search', {}, { q })
  const found = useRecord(request)
  return (
    <Page title={`Search for ${q}`} request={request}>
      {found.error !== null && <Failure error={found.error} again={() => void found.refetch()} />}
      {found.data === undefined && found.error === null && <Reading what="what has this id" />}
      {found.data?.data.length === 0 && (
        <Empty>
          <p>Nothing has this id.</p>
          <p>Search takes a whole id, without spaces, in its own upper and lower case. Requests are kept for a node’s present run only.</p>
        </Empty>
      )}
      <ul className="results">
        {found.data?.data.map(each => (
          <li key={`${each.kind} ${each.id}`}>
            <span className="status plain">{each.kind}</span> {each.label} <CopyText text={each.id} what={`${each.kind} id`} />{' '}
            <HitLink hit={each} /> <HitRequest hit={each} />
          </li>
        ))}
      </ul>
    </Page>
  )
}

/** Of the kinds that can be read by their id. */
function HitRequest({ hit: { kind, id, label } }: { readonly hit: SearchHit }): ReactNode {
  const request =
    kind === 'order'
      ? get('/orders/{order_id}', { order_id: id })
      : kind === 'user'
        ? get('/users/{user_key}', { user_key: id })
        : kind === 'request'
          ? get('/requests', {}, { request_id: id })
          : null
  return request === null ? null : <CopyRowRequest request={request} what={`${kind} ${label}`} />
}

function HitLink({ hit: { kind, id, user_key: user } }: { readonly hit: SearchHit }): ReactNode {
  switch (kind) {
    case 'order':
      return (
        <Link to="/orders/$orderId" params={{ orderId: id }}>
          Show the order
        </Link>
      )
    case 'connection':
      return (
        <Link to="/orders" search={{ connection: id }}>
          Show its orders
        </Link>
      )
    case 'platform':
      return (
        <Link to="/users" search={{ platform: id }}>
          Show its users
        </Link>
      )
    case 'request':
      return (
        <Link to="/requests" search={{ request_id: id }}>
          Show the request
        </Link>
      )
    default:
      return user === null ? null : (
        <Link to="/users/$userKey" params={{ userKey: user }}>
          Show the user
        </Link>
      )
  }
}
