<<<<<<<< HEAD:packages/console/dist/assets/platform-3e2e85fa.js
import{I as e,u as t}from"./page-140cf5f2.js";function n(n){let{data:r}=t(e(`/platforms`,{})),i=(r?.data??[]).map(({platform_id:e,name:t})=>({value:e,label:t}));return{choices:i,chosen:n??(i.length===1?i[0]?.value:void 0)}}export{n as t};
========
import{R as e,d as t}from"./page-9830623e.js";function n(n){let{data:r}=t(e(`/platforms`,{})),i=(r?.data??[]).map(({platform_id:e,name:t})=>({value:e,label:t}));return{choices:i,chosen:n??(i.length===1?i[0]?.value:void 0)}}export{n as t};
>>>>>>>> eac13759 (The console's login offers the provider, and completes what it sends back):packages/console/dist/assets/platform-592da73f.js
