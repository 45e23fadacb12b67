// The parts of PGlite's module that the durable file system replaces or calls.

export interface EngineNode {
  readonly mode: number
}

export interface EngineStream {
  /** The host's descriptor. */
  readonly nfd: number
  /** The engine's. */
  readonly fd: number
  readonly node: EngineNode
}

interface StreamOps {
  [name: string]: (stream: EngineStream, ...rest: unknown[]) => unknown
  open: (stream: EngineStream) => void
}

interface NodeOps {
  [name: string]: (node: EngineNode, ...rest: never[]) => unknown
  mknod: (parent: EngineNode, name: string, mode: number, device: number) => EngineNode
}

/** The parts of the engine's module that this package relies on. They are internals: a self-test checks them at every start. */
export interface EngineModule {
  readonly NODEFS: {
    readonly stream_ops: StreamOps
    readonly node_ops: NodeOps
    realPath(node: EngineNode): string
  }
  readonly FS: {
    readonly ErrnoError: new (errno: number) => Error
    isFile(mode: number): boolean
    lookupNode(parent: EngineNode, name: string): EngineNode
    destroyNode(node: EngineNode): void
    closeStream(fd: number): void
  }
  _PostgresMainLoopOnce: () => void
  onAbort?: (what: unknown) => void
}
