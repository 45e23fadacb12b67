/** Where the portal is shown. */
export interface PortalWindow {
    /** Whose messages count. */
    readonly source: () => Window | null;
    /** Leads it to an address of the portal. */
    readonly load: (address: string) => void;
    readonly focus: () => void;
    readonly isClosed: () => boolean;
    readonly close: () => void;
}
/** Null if the browser does not open one. It is empty until `load`: a browser opens it only right after a click. */
export declare function popupWindow(host: Window): PortalWindow | null;
/** Fills its container. A page that is taken out of the document with its container counts as closed. */
export declare function frameWindow(container: Element, title: string): PortalWindow;
