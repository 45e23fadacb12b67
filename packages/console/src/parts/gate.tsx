// Without a session there is the login and nothing else.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Input } from 'react-aria-components/Input'
import { Label } from 'react-aria-components/Label'
import { Text } from 'react-aria-components/Text'
import { TextField } from 'react-aria-components/TextField'
import { API, isSignedOut, Refusal, send } from '../api.ts'
import type { LinkCode } from '../link-code.ts'
import { codeFrom } from '../login-code.ts'
import { beginLogin, completeLogin } from '../provider-login.ts'
import { loginOptionsQuery, sessionQuery } from '../reads.ts'
import { Failure, Reading } from './states.tsx'

interface GateProps {
  /** Of the link that opened this page. */
  readonly code: LinkCode
  /** What a login provider sent, if it sent the browser here: once, then null. */
  readonly takeAnswer: () => string | null
  readonly children: ReactNode
}

/** Shows its content to a session. A code, or what a provider sent, is used only where there is none: it never replaces a session. */
export function Gate({ code, takeAnswer, children }: GateProps): ReactNode {
  const session = useQuery(sessionQuery)
  const isSignedIn = session.data !== undefined && !isSignedOut(session.error)
  useEffect(() => {
    if (!isSignedIn) return
    takeAnswer()
    return code.receive(() => undefined)
  }, [isSignedIn, code, takeAnswer])
  if (isSignedIn) return children
  if (isSignedOut(session.error)) return <Login code={code} takeAnswer={takeAnswer} />
  return (
    <LoginFrame>
      {session.error === null ? <Reading what="your session" /> : <Failure error={session.error} again={() => void session.refetch()} />}
    </LoginFrame>
  )
}

const NEW_LINK = 'A code works once and for ten minutes. Create another link with the command above.'

function Login({ code, takeAnswer }: Omit<GateProps, 'children'>): ReactNode {
  const [pasted, setPasted] = useState('')
  const queries = useQueryClient()
  const exchange = useMutation({
    mutationFn: (given: string) => send({ method: 'POST', path: `${API}/sessions`, body: { code: given } }),
    // All of them: what an earlier session of this page read is not shown to another one.
    onSuccess: () => queries.resetQueries()
  })
  const { mutate } = exchange
  useEffect(() => code.receive(mutate), [code, mutate])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (pasted.trim() !== '') mutate(codeFrom(pasted))
  }
  return (
    <LoginFrame>
      <p>
        Run <code>npm run cli -- operator link</code> on the machine of the service. Open the link that it prints, or paste it here. It is
        valid for ten minutes and once.
      </p>
      {exchange.error !== null && <Failure error={exchange.error} advice={isSignedOut(exchange.error) ? NEW_LINK : undefined} />}
      <form onSubmit={submit}>
        <TextField className="field" type="password" value={pasted} onChange={setPasted} autoComplete="one-time-code" isRequired autoFocus>
          <Label>Link or code</Label>
          <Input className="input" />
          <Text slot="description" className="hint">
            It is sent to this service only, and never becomes part of an address.
          </Text>
        </TextField>
        <Button className="button primary" type="submit" isDisabled={exchange.isPending}>
          {exchange.isPending ? 'Signing in…' : 'Sign in'}
        </Button>
      </form>
      <ByProvider takeAnswer={takeAnswer} />
    </LoginFrame>
  )
}

const OTHERWISE = 'Log in again, or with a code: it needs no provider.'

/** The other way in, where the service has a provider: to there and, at the callback, back. */
function ByProvider({ takeAnswer }: Pick<GateProps, 'takeAnswer'>): ReactNode {
  const name = useQuery(loginOptionsQuery).data?.provider?.name
  // The session is read by a new document, at the page where the login began.
  const queries = useQueryClient()
  // Another tab of this browser was faster: its session is shown.
  const onError = (error: Error) => {
    if (error instanceof Refusal && error.code === 'session_exists') void queries.resetQueries()
  }
  const complete = useMutation({ mutationFn: completeLogin, onSuccess: page => location.replace(page), onError })
  const begin = useMutation({ mutationFn: () => beginLogin(location), onSuccess: url => location.assign(url), onError })
  const { mutate } = complete
  useEffect(() => {
    const answer = takeAnswer()
    if (answer !== null) mutate(answer)
  }, [takeAnswer, mutate])
  if (complete.isPending || complete.isSuccess) return <Reading what="what the login provider sent" />
  const error = begin.error ?? complete.error
  return (
    <>
      {error !== null && <Failure error={error} advice={error instanceof Refusal && error.status === 401 ? OTHERWISE : undefined} />}
      {name !== undefined && (
        <div className="other-login">
          <Button className="button" onPress={() => begin.mutate()} isDisabled={begin.isPending || begin.isSuccess}>
            Log in with {name}
          </Button>
          <p className="hint">Signing out of the console ends its session only: at {name} you stay logged in.</p>
        </div>
      )}
    </>
  )
}

function LoginFrame({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <main className="login">
      <h1>Trunkline console</h1>
      {children}
    </main>
  )
}
