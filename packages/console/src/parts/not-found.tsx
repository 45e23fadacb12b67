import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Page } from './page.tsx'

/** For an address below `/console/` that no page has. */
export function NotFound(): ReactNode {
  return (
    <Page title="There is no such page">
      <p>
        The address may be incomplete. <Link to="/">Go to the first page</Link>, or search for an id above.
      </p>
    </Page>
  )
}
