// Checks rendered objects by Kubernetes' own types: each value by the schema that
// the API server has, each name by TypeScript, which refuses unknown ones.
//
// usage: node validate_objects.mjs OBJECTS.json; the working folder has
// node_modules. Prints what is wrong, one line each; exit code 1 if anything is.
import fs from "node:fs";
import {createRequire} from "node:module";

const require = createRequire(process.cwd() + "/");
const ts = require("typescript");

// The module of one kind: much quicker to read than that of its group.
function moduleOf({apiVersion, kind}) {
  const models = apiVersion.startsWith("monitoring.coreos.com/") ?
      "@kubernetes-models/prometheus-operator" : "kubernetes-models";
  return `${models}/${apiVersion}/${kind}`;
}

const labelOf = object => `${object.kind} ${object.metadata.name}`;
const objects = JSON.parse(fs.readFileSync(process.argv[2], "utf-8"));
const faults = [];

for (const object of objects) {
  try {
    const Model = require(moduleOf(object))[object.kind];
    new Model(object).validate();
  } catch (error) {
    faults.push(`${labelOf(object)}: ${error.message}`);
  }
}

const source = objects.map((object, i) => `
import type {I${object.kind} as Type${i}} from
    "${moduleOf(object)}";
export const object${i}: Type${i} = ${JSON.stringify(object)};`).join("\n");
fs.writeFileSync("objects.ts", source);
const program = ts.createProgram(["objects.ts"], {
  noEmit: true,
  strict: true,
  skipLibCheck: true,
  module: ts.ModuleKind.CommonJS,
  moduleResolution: ts.ModuleResolutionKind.Node10,
  ignoreDeprecations: "5.0",
  types: [],
});
for (const diagnostic of ts.getPreEmitDiagnostics(program)) {
  const text = ts.flattenDiagnosticMessageText(diagnostic.messageText, " ");
  faults.push(`TypeScript: ${text}`);
}

for (const fault of faults) console.log(fault);
process.exit(faults.length === 0 ? 0 : 1);
