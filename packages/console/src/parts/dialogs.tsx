// Where dialogs are: beside the pages, so that one outlives the part of the page that opened it. What became of a change is read in it.
import { createContext, Fragment, type ReactNode, useCallback, useContext, useRef, useState } from 'react'

type Opened = (close: () => void) => ReactNode

const Opening = createContext<(dialog: Opened) => void>(() => {
  throw new Error('expected to be inside of Dialogs')
})

interface Shown {
  readonly id: number
  readonly dialog: ReactNode
}

/** Around everything that opens dialogs. One that a dialog opens stands beside it. */
export function Dialogs({ children }: { readonly children: ReactNode }): ReactNode {
  const opened = useRef(0)
  const [shown, setShown] = useState<readonly Shown[]>([])
  const open = useCallback((dialog: Opened) => {
    opened.current += 1
    const id = opened.current
    const close = () => setShown(before => before.filter(each => each.id !== id))
    setShown(before => [...before, { id, dialog: dialog(close) }])
  }, [])
  return (
    <Opening value={open}>
      {children}
      {shown.map(({ id, dialog }) => (
        <Fragment key={id}>{dialog}</Fragment>
      ))}
    </Opening>
  )
}

/** Opens a dialog, which is made once: it stays as it was opened, whatever the page reads meanwhile. */
export function useDialogs(): (dialog: Opened) => void {
  return useContext(Opening)
}
