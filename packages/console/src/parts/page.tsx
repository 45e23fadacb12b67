// What every page has: its title, the request it shows, its content.
import { type ReactNode, useEffect } from 'react'
import type { ApiRequest } from '../snippets.ts'
import { CopyRequest } from './copy.tsx'

interface PageProps {
  readonly title: string
  /** The request whose answer the page shows. */
  readonly request?: ApiRequest | undefined
  readonly children: ReactNode
}

/** A page of the console. */
export function Page({ title, request, children }: PageProps): ReactNode {
  useEffect(() => {
    document.title = `${title} · Trunkline console`
  }, [title])
  return (
    <>
      <div className="head">
        <h1>{title}</h1>
        {request !== undefined && <CopyRequest request={request} what="the page" />}
      </div>
      {children}
    </>
  )
}
