"""What the chart renders is right by Kubernetes' own types and its restricted
Pod Security Standard."""

import copy
import json
import pathlib
import subprocess
import unittest

from tests.deploy import npm_packages
from tests.deploy.helm import helm

_SCRIPT = pathlib.Path("tests/deploy/helm/validate_objects.mjs").resolve()
# Of NVIDIA's driver: no package has its type.
_WITHOUT_TYPE = ("ComputeDomain",)
_VOLUME_KINDS = {
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral",
    "persistentVolumeClaim", "projected", "secret",
}


def setUpModule():
    """Gets all that is needed once, and renders the examples."""
    helm3 = helm.Helm(3, npm_packages.KUBERNETES_MODELS,
                      npm_packages.OPERATOR_MODELS, npm_packages.TYPESCRIPT)
    unittest.addModuleCleanup(helm3.close)
    helm4 = helm.Helm(4)
    unittest.addModuleCleanup(helm4.close)
    ObjectsTestCase.folder = helm3.folder
    ObjectsTestCase.examples, ObjectsTestCase.examples_of_helm4 = (
        {name: program.render_example(name) for name in helm.examples()}
        for program in (helm3, helm4))


class ObjectsTestCase(unittest.TestCase):
    folder = None  # with node_modules
    examples = None  # the objects of each, by Helm 3
    examples_of_helm4 = None


class TypesTest(ObjectsTestCase):
    maxDiff = None

    def faults(self, objects):
        path = self.folder / "objects.json"
        path.write_text(json.dumps(objects), encoding="utf-8")
        result = subprocess.run(
            ["node", _SCRIPT, path], cwd=self.folder, capture_output=True,
            text=True, check=False)
        self.assertEqual("", result.stderr)
        return result.stdout

    def test_objects_are_of_their_types(self):
        objects = [item for example in self.examples.values()
                   for item in example if item["kind"] not in _WITHOUT_TYPE]
        kinds = {item["kind"] for item in objects}
        self.assertLessEqual({
            "StatefulSet", "Deployment", "Service", "ConfigMap", "Pod",
            "ServiceAccount", "NetworkPolicy", "PodDisruptionBudget",
            "HorizontalPodAutoscaler", "ServiceMonitor", "PrometheusRule",
        }, kinds)
        self.assertEqual("", self.faults(objects))

    def test_both_majors_render_the_same_objects(self):
        # So what is found of the one's holds for the other's.
        for name, objects in self.examples.items():
            self.assertEqual(objects, self.examples_of_helm4[name], name)

    def test_finds_what_is_wrong(self):
        good = helm.workload(self.examples["minimal"])
        wrong_name, wrong_type, missing = (
            copy.deepcopy(good) for _ in range(3))
        wrong_name["spec"]["template"]["spec"]["automountToken"] = False
        wrong_type["spec"]["replicas"] = "two"
        del missing["spec"]["selector"]
        faults = self.faults([good, wrong_name, wrong_type, missing])
        for fault in ("TypeScript: .*'\"automountToken\"' does not exist",
                      "StatefulSet gatherd: .*replicas", "TypeScript: .*string",
                      "StatefulSet gatherd: .*selector",
                      "TypeScript: .*selector.* is missing"):
            self.assertRegex(faults, f"(?m)^{fault}")


def pods(objects):
    """(name, labels, spec) of every pod, those of templates included."""
    for item in objects:
        if item["kind"] in ("StatefulSet", "Deployment"):
            template = item["spec"]["template"]
            yield (item["metadata"]["name"], template["metadata"]["labels"],
                   template["spec"])
        elif item["kind"] == "Pod":
            yield (item["metadata"]["name"], item["metadata"]["labels"],
                   item["spec"])


class SecurityTest(ObjectsTestCase):

    def check_container(self, container):
        context = container["securityContext"]
        self.assertIs(False, context["allowPrivilegeEscalation"])
        self.assertIs(True, context["readOnlyRootFilesystem"])
        self.assertEqual({"drop": ["ALL"]}, context["capabilities"])
        self.assertNotIn("privileged", context)
        for port in container.get("ports", ()):
            self.assertNotIn("hostPort", port)

    def test_every_pod_is_restricted(self):
        for name, objects in self.examples.items():
            for pod, _, spec in pods(objects):
                with self.subTest(f"{name}: {pod}"):
                    context = spec["securityContext"]
                    self.assertIs(True, context["runAsNonRoot"])
                    self.assertGreater(context["runAsUser"], 0)
                    self.assertEqual({"type": "RuntimeDefault"},
                                     context["seccompProfile"])
                    for key in ("hostNetwork", "hostPID", "hostIPC"):
                        self.assertNotIn(key, spec)
                    for volume in spec.get("volumes", ()):
                        self.assertLessEqual(set(volume) - {"name"},
                                             _VOLUME_KINDS)
                    for container in (spec.get("initContainers", []) +
                                      spec["containers"]):
                        self.check_container(container)

    def test_no_pod_has_a_token_of_kubernetes(self):
        for objects in self.examples.values():
            for _, _, spec in pods(objects):
                self.assertIs(False, spec["automountServiceAccountToken"])
            account = helm.find(objects, "ServiceAccount")
            self.assertIs(False, account["automountServiceAccountToken"])

    def test_mounts_have_volumes_and_volumes_are_mounted(self):
        for name, objects in self.examples.items():
            claims = {
                claim["metadata"]["name"] for claim in
                helm.workload(objects)["spec"].get("volumeClaimTemplates", ())}
            for pod, _, spec in pods(objects):
                mounted = {mount["name"]
                           for container in (spec.get("initContainers", []) +
                                             spec["containers"])
                           for mount in container.get("volumeMounts", ())}
                volumes = {volume["name"]
                           for volume in spec.get("volumes", ())}
                if pod == helm.workload(objects)["metadata"]["name"]:
                    volumes |= claims
                self.assertEqual(volumes, mounted, f"{name}: {pod}")


def selectors(objects):
    """(kind and name, labels) of all that choose pods."""
    for item in objects:
        name = f"{item['kind']} {item['metadata']['name']}"
        spec = item.get("spec", {})
        if item["kind"] == "Service":
            yield name, spec["selector"]
        elif item["kind"] == "NetworkPolicy":
            yield name, spec["podSelector"]["matchLabels"]
        elif item["kind"] in ("StatefulSet", "Deployment",
                              "PodDisruptionBudget"):
            yield name, spec["selector"]["matchLabels"]


class WiringTest(ObjectsTestCase):

    def test_selectors_choose_the_servers_and_nothing_else(self):
        for name, objects in self.examples.items():
            found = list(selectors(objects))
            self.assertGreaterEqual(len(found), 4)
            for selector, chosen in found:
                for pod, labels, _ in pods(objects):
                    is_server = pod == helm.workload(
                        objects)["metadata"]["name"]
                    self.assertEqual(
                        is_server, chosen.items() <= labels.items(),
                        f"{name}: {selector}, {pod}")

    def test_service_monitor_chooses_the_metrics_service_alone(self):
        objects = self.examples["monitored"]
        monitor = helm.find(objects, "ServiceMonitor")["spec"]
        chosen = [
            item["metadata"]["name"] for item in objects
            if item["kind"] == "Service" and
            monitor["selector"]["matchLabels"].items()
            <= item["metadata"]["labels"].items()]
        self.assertEqual(["gatherd-metrics"], chosen)
        service = helm.find(objects, "Service", chosen[0])
        self.assertEqual(monitor["endpoints"][0]["port"],
                         service["spec"]["ports"][0]["name"])

    def test_scaler_and_set_name_what_is_there(self):
        objects = self.examples["replicas"]
        target = helm.find(
            objects, "HorizontalPodAutoscaler")["spec"]["scaleTargetRef"]
        workload = helm.workload(objects)
        self.assertEqual((workload["kind"], workload["metadata"]["name"]),
                         (target["kind"], target["name"]))
        self.assertNotIn("replicas", workload["spec"])
        objects = self.examples["minimal"]
        helm.find(objects, "Service",
                  helm.workload(objects)["spec"]["serviceName"])

    def test_policy_lets_in_who_must_get_in(self):
        objects = self.examples["secured"]
        ingress = helm.find(objects, "NetworkPolicy")["spec"]["ingress"]
        peers = {rule["ports"][0]["port"]: rule.get("from")
                 for rule in ingress}
        self.assertEqual({7400, 7401, 7402}, set(peers))
        self.assertIsNone(peers[7402])  # kubelet
        _, labels, _ = next(pod for pod in pods(objects)
                            if pod[0] == "gatherd-test")
        self.assertTrue(any(
            peer["podSelector"]["matchLabels"].items() <= labels.items()
            for peer in peers[7400]))

    def test_helm_test_asks_one_server_all_the_time(self):
        def asked(name):
            pod = helm.find(self.examples[name], "Pod")["spec"]
            env = {item["name"]: item["value"]
                   for item in pod["containers"][0]["env"]}
            return env.get("ADDRESS") or env["SERVERS"]
        for name, host in {
                "cpu": "gatherd.serving.svc:7400",
                "multi-gpu": "gatherd-0.gatherd-headless.serving.svc:7400",
                "replicas": "gatherd-headless.serving.svc"}.items():
            self.assertEqual(host, asked(name), name)

    def test_claim_names_the_template_of_the_domain(self):
        objects = self.examples["compute-domain"]
        template = helm.find(objects, "ComputeDomain")["spec"]["channel"][
            "resourceClaimTemplate"]["name"]
        spec = helm.pod_template(objects)["spec"]
        self.assertEqual(template,
                         spec["resourceClaims"][0]["resourceClaimTemplateName"])
        self.assertEqual(
            [{"name": spec["resourceClaims"][0]["name"]}],
            helm.container(objects)["resources"]["claims"])

    def test_rollout_lasts_as_long_as_a_start_may_take(self):
        spec = helm.workload(self.examples["replicas"])["spec"]
        probe = helm.container(self.examples["replicas"])["startupProbe"]
        self.assertGreaterEqual(
            spec["progressDeadlineSeconds"],
            probe["periodSeconds"] * probe["failureThreshold"]
            + spec["minReadySeconds"])

    def test_grace_fits_the_drain(self):
        for name, seconds in {"minimal": 2 + 10 + 20 + 10,
                              "multi-gpu": 2 + 1 + 60 + 10,
                              "stored": 120}.items():
            spec = helm.pod_template(self.examples[name])["spec"]
            self.assertEqual(seconds, spec["terminationGracePeriodSeconds"])


if __name__ == "__main__":
    unittest.main()
