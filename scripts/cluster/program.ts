// What the supervisor runs: a description of each program of the cluster.

export interface Program {
  /** As commands name it: `2`, `nats`. */
  readonly name: string
  /** As messages name it: `node 2`, `NATS`. */
  readonly title: string
  readonly address: string
  readonly command: string
  readonly args: readonly string[]
  /** The whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The user to run as, where it is not the current one. */
  readonly runAs: { readonly uid: number; readonly gid: number } | null
  /** Receives its output. */
  readonly logFile: string
  /** Its signal for a graceful end. */
  readonly endSignal: 'SIGTERM' | 'SIGINT'
  /** How long a graceful end may take. */
  readonly endMs: number
  /** Whether it is started again when it ends by itself. */
  readonly restarts: boolean
  /** Whether the running process with this id is ready. Asked several times a second. */
  readonly isReady: (pid: number) => Promise<boolean>
}
