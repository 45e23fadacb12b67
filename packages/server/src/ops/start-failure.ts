import { reasonOf } from '@trunkline/files/durable'
import { withoutSecrets } from './redact.ts'

/**
 * The message for an operator when the service does not start: what failed, where, and which setting changes it. Never a stack, never a
 * secret.
 */
export function startFailure(cause: unknown): string {
  const text = isFilesShort(cause) ? OUT_OF_FILES : messageOf(cause)
  return text.split('\n').map(withoutSecrets).join('\n')
}

function messageOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  if (isListening(cause)) return listening(cause)
  if ('path' in cause && typeof cause.path === 'string' && 'code' in cause)
    return `${cause.path} cannot be used: ${reasonOf(cause)}${DATA_DIR}`
  if (cause.name === 'FileNotWritten' || cause.name === 'FileNotDurable') return `${cause.message}${DATA_DIR}`
  const because =
    cause.name !== 'EngineRefused' && cause.cause instanceof Error && !cause.message.includes(cause.cause.message)
      ? ` (${cause.cause.message})`
      : ''
  return `${cause.message}${because}`
}

const OUT_OF_FILES =
  'The limit of open files is too low (ulimit -n): the service may open no further file or connection. 1024 are enough for a start; raise it and start again.'

/** Whether a cause, or one below it, is that this process cannot open another file. */
function isFilesShort(cause: unknown): boolean {
  for (let each: unknown = cause, depth = 0; each instanceof Error && depth < 8; each = each.cause, depth += 1) {
    const code = 'code' in each ? each.code : null
    if (code === 'EMFILE' || code === 'ENFILE' || /\bE[MN]FILE\b|too many open files|no file descriptors available/i.test(each.message))
      return true
  }
  return false
}

const DATA_DIR = ' TRUNKLINE_DATA_DIR says where data lies.'

interface ListenError extends Error {
  readonly code: string
  readonly port: number
  readonly address: string
}

function isListening(cause: Error): cause is ListenError {
  return 'syscall' in cause && cause.syscall === 'listen' && 'port' in cause && 'address' in cause && 'code' in cause
}

function listening({ code, address, port }: ListenError): string {
  const why = whyNotListening({ code, address, port })
  return `${why.charAt(0).toUpperCase()}${why.slice(1)} (TRUNKLINE_PORT, or TRUNKLINE_METRICS_PORT where it is that one's).`
}

/** Why nothing can listen there, and what to do: text after a setting's name. */
export function whyNotListening({
  code,
  address,
  port
}: {
  readonly code: string
  readonly address: string
  readonly port: number
}): string {
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} of ${address} is taken by another program; stop that one, or choose another port (0: any free one)`
    case 'EACCES':
      return `port ${port} of ${address} may not be used by this user, as ports below 1024 are for the system; choose another`
    default:
      return `nothing can listen on ${address}, port ${port} (${code}); the host must be an address of this machine`
  }
}
