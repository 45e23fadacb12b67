// Without a session there is the login and nothing else.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Input } from 'react-aria-components/Input'
import { Label } from 'react-aria-components/Label'
import { Text } from 'react-aria-components/Text'
import { TextField } from 'react-aria-components/TextField'
import { API, isSignedOut, send } from '../api.ts'
import { codeFrom } from '../login-code.ts'
import { sessionQuery } from '../reads.ts'
import { Failure, Reading } from './states.tsx'

/** Shows its content to a session. `code`: of the link that opened this page; it is used only when there is no session. */
export function Gate({ code, children }: { readonly code: string | null; readonly children: ReactNode }): ReactNode {
  const session = useQuery(sessionQuery)
  if (session.data !== undefined) return children
  if (session.error === null)
    return (
      <LoginFrame>
        <Reading what="your session" />
      </LoginFrame>
    )
  if (isSignedOut(session.error)) return <Login code={code} />
  return (
    <LoginFrame>
      <Failure error={session.error} again={() => void session.refetch()} />
    </LoginFrame>
  )
}

function Login({ code }: { readonly code: string | null }): ReactNode {
  const [pasted, setPasted] = useState('')
  const queries = useQueryClient()
  const exchange = useMutation({
    mutationFn: (given: string) => send({ method: 'POST', path: `${API}/sessions`, body: { code: given } }),
    onSuccess: () => queries.resetQueries({ queryKey: sessionQuery.queryKey })
  })
  // A code can be exchanged once, so it is sent once, also where effects run twice.
  const isSent = useRef(false)
  const { mutate } = exchange
  useEffect(() => {
    if (code === null || isSent.current) return
    isSent.current = true
    mutate(code)
  }, [code, mutate])
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
      {exchange.error !== null && <Failure error={exchange.error} />}
      <form onSubmit={submit}>
        <TextField className="field" type="password" value={pasted} onChange={setPasted} autoComplete="off" isRequired autoFocus>
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
    </LoginFrame>
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
