// The scopes of the session, and what a page says where one is missing.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { sessionQuery } from '../reads.ts'

type Scope = 'read' | 'manage' | 'sandbox'

/** Whether the session has a scope. */
export function useMay(scope: Scope): boolean {
  return useQuery(sessionQuery).data?.scopes.includes(scope) === true
}

/** Says what a page needs. */
export function NeedsScope({ scope }: { readonly scope: 'read' | 'sandbox' }): ReactNode {
  const scopes = useQuery(sessionQuery).data?.scopes ?? []
  const wanted = [...new Set<string>(['read', scope, ...scopes])]
  return (
    <p>
      This page needs the scope <code>{scope}</code>, which this session does not have. A link with it:{' '}
      <code>npm run cli -- operator link {wanted.map(each => `--scope ${each}`).join(' ')}</code>.
    </p>
  )
}
