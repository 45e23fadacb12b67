<<<<<<<< HEAD:packages/console/dist/assets/platform-5900d640.js
import{H as e,p as t}from"./page-7cf5f5b5.js";function n(n){let{data:r}=t(e(`/platforms`,{})),i=(r?.data??[]).map(({platform_id:e,name:t})=>({value:e,label:t}));return{choices:i,chosen:n??(i.length===1?i[0]?.value:void 0)}}export{n as t};
========
import{R as e,f as t}from"./page-23f336c6.js";function n(n){let{data:r}=t(e(`/platforms`,{})),i=(r?.data??[]).map(({platform_id:e,name:t})=>({value:e,label:t}));return{choices:i,chosen:n??(i.length===1?i[0]?.value:void 0)}}export{n as t};
>>>>>>>> a933ee4d (The console: words; rereading a long list is tested in the browser):packages/console/dist/assets/platform-fd141c5b.js
