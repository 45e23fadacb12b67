// The console: operators see what the service does, from the documented API at `/admin/v1`.
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isSignedOut, Refusal } from './api.ts'
import { LinkCode } from './link-code.ts'
import { Gate } from './parts/gate.tsx'
import { answerIn } from './provider-login.ts'
import { sessionQuery } from './reads.ts'
import { router } from './router.tsx'
import './style/frame.css'
import './style/parts.css'
import './style/pages.css'
import '../../server/src/http/docs/live/style/trading.css'
import './style/trade.css'
import './style/phone.css'
import { applyTheme, keptTheme } from './theme.ts'

// Before anything else: a code must not stay in the address, the history or a copied link.
const code = new LinkCode()
code.leaveAddress()
// A link that is pasted into the address of this page loads nothing: only the fragment is new.
addEventListener('hashchange', () => code.leaveAddress())
// The same for what a provider sent: the browser is no longer at the callback, where a reload would send it again.
let answer = answerIn(location)
if (answer !== null) history.replaceState(history.state, '', '/console/')
const takeAnswer = () => {
  const taken = answer
  answer = null
  return taken
}
applyTheme(keptTheme())
// A browser that goes back may show the page as it was left, also after its session has ended.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})

const TRIES = 2
const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    // A session that ended shows the login again, whichever page noticed it.
    onError: (error, query) => {
      if (isSignedOut(error) && query.queryKey[0] !== 'session') void queries.resetQueries({ queryKey: sessionQuery.queryKey })
    }
  }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal is an answer, and asking again would be counted against the limits.
      retry: (failures, error) => failures < TRIES && error instanceof Refusal && (error.status === 0 || error.status === 503)
    }
  }
})

const place = document.getElementById('console')
if (place === null) throw new Error('expected an element with the id console in the page')
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <Gate code={code} takeAnswer={takeAnswer}>
        <RouterProvider router={router} />
      </Gate>
    </QueryClientProvider>
  </StrictMode>
)
