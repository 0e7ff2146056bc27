"""Values that must not get as far as a cluster, and what is said of them."""


def table(**fields):
    return {"name": "words", "dim": 4, "tiers": [{"host": {"rows": 100}}],
            **fields}


def config(*tables, **sections):
    return {"config": {"tables": list(tables), **sections}}


def server(**settings):
    return {"config": {"server": settings}}


# values.schema.json: (values, a word of the refusal)
WRONG_VALUES = {
    "unknown value": ({"replica": 2}, "replica"),
    "unknown value inside": ({"image": {"name": "x"}}, "name"),
    "unknown setting": (server(adress="0.0.0.0:1"), "adress"),
    "unknown section": ({"config": {"logs": {}}}, "logs"),
    "unknown setting of a table": (config(table(width=4)), "width"),
    "wrong mode": ({"mode": "daemonset"}, "mode"),
    "replicas as a text": ({"replicas": "two"}, "replicas"),
    "wrong size": (server(max_message_bytes="64MB"), "max_message_bytes"),
    "wrong duration": (server(drain_delay="10 sec"), "drain_delay"),
    "duration without unit": (server(shutdown_timeout=10), "shutdown_timeout"),
    "dim too large": (config(table(dim=8193)), "dim"),
    "wrong data type": (config(table(data_type="double")), "data_type"),
    "table without tiers": (config(table(tiers=[])), "tiers"),
    "two kinds in a tier": (config(table(tiers=[
        {"gpu": {"rows": 1}, "host": {"rows": 1}}])), "tiers"),
    # A Deployment's progressDeadlineSeconds must be longer.
    "ready for too long": ({"minReadySeconds": 600}, "minReadySeconds"),
    "wrong memory": ({"resources": {"limits": {"memory": "4GiB"}}}, "memory"),
    "wrong digest": ({"image": {"digest": "latest"}}, "digest"),
    "probe without period": ({"probes": {"liveness": {
        "periodSeconds": 0}}}, "periodSeconds"),
    "wrong service": ({"service": {"type": "ExternalName"}}, "type"),
}

_TLS = {"tls": {"existingSecret": "tls"}}
_AUTH = {"auth": {"existingSecret": "tokens"}}
_SOURCE = {"rows": "/data/rows.npy", "keys": "/data/keys.npy"}

# The templates: (values, the text's beginning)
WRONG_TOGETHER = {
    "memory below the tables": (
        {**config(table(dim=1024, tiers=[{"host": {"rows": "1M"}}])),
         "resources": {"limits": {"memory": "4Gi"}}},
        "resources.limits.memory is 4Gi, and the tables, requests in flight "
        "and the process need 6606Mi"),
    "one name twice": (
        config(table(), table(dim=8)),
        "config.tables has two tables of the name words"),
    "a port behind the chart's back": (
        {"extraEnv": [{"name": "GATHERD_SERVER_ADDRESS", "value": "0:1"}]},
        "extraEnv has GATHERD_SERVER_ADDRESS, which ports, memory and times of "
        "the pod would not follow; set config.server.address"),
    "request above the limit": (
        {"resources": {"requests": {"memory": "8Gi"},
                       "limits": {"memory": "4Gi"}}},
        "resources.requests.memory is 8Gi, more than the limit of 4Gi"),
    "killed while draining": (
        {"terminationGracePeriodSeconds": 30},
        "terminationGracePeriodSeconds is 30: the server would be killed"),
    "tokens in the clear": (
        {**_AUTH, "service": {"type": "LoadBalancer"}},
        "service.type LoadBalancer takes tokens outside the cluster"),
    "probes without a port": (
        {**_TLS, **server(health_address="")},
        "kubelet's probes know no TLS"),
    "two certificates": (
        {**_TLS, **server(tls={"certificate": "a", "key": "b"})},
        "tls.existingSecret and config.server.tls both"),
    "two files of tokens": (
        {**_AUTH, **server(auth={"read_tokens_file": "a"})},
        "auth.existingSecret and config.server.auth both"),
    "no tokens": (
        {"auth": {"existingSecret": "a", "readTokensKey": "",
                  "writeTokensKey": ""}},
        "auth.existingSecret is given, and neither"),
    "client certificates without TLS": (
        {"tls": {"clientCa": True}}, "tls.clientCa needs tls.existingSecret"),
    "loopback": (
        server(address="127.0.0.1:7400"),
        "config.server.address is 127.0.0.1:7400, which nobody outside"),
    "socket": (
        server(address="unix:/run/gatherd"),
        "config.server.address is unix:/run/gatherd: callers and probes"),
    "any port": (
        server(metrics_address="0.0.0.0:0"),
        "config.server.metrics_address is 0.0.0.0:0: Services need to know"),
    "one port twice": (
        server(health_address="0.0.0.0:7401"),
        "config.server.metrics_address and config.server.health_address have "
        "the same port, 7401"),
    "cuda without GPUs": (
        {"config": {"devices": "cuda"}},
        "config.devices is cuda and gpu.count is 0"),
    "a GPU that is not there": (
        {"config": {"devices": [0, 2]}, "gpu": {"count": 2}},
        "config.devices names GPU 2; gpu.count is 2"),
    "idle GPUs": (
        {"config": {"devices": "cpu"}, "gpu": {"count": 2}},
        "config.devices is cpu and gpu.count is 2"),
    "NVLink without GPUs": (
        {"computeDomain": {"enabled": True}},
        "computeDomain.enabled needs gpu.count"),
    "certificate on no volume": (
        server(tls={"certificate": "/etc/tls/a.pem", "key": "/etc/tls/a.key"}),
        "config.server.tls.certificate is /etc/tls/a.pem, which is on no "
        "volume; set tls.existingSecret"),
    "tokens on no volume": (
        server(auth={"read_tokens_file": "/etc/tokens"}),
        "config.server.auth.read_tokens_file is /etc/tokens, which is on no "
        "volume; set auth.existingSecret"),
    "source on no volume": (
        config(table(source=_SOURCE)), "`keys` of the source of table words "
        "is /data/keys.npy, which is on no volume"),
    "source beside the volume": (
        {**config(table(source={"rows": "/database/rows.npy"})),
         "data": {"existingClaim": "words"}},
        "`rows` of the source of table words is /database/rows.npy, which is "
        "on no volume"),
    "store on no volume": (
        config(table(tiers=[{"rocksdb": {"path": "/var/lib/gatherd/words"}}])),
        "the rocksdb path of table words is /var/lib/gatherd/words, which"),
    "snapshots on no volume": (
        server(snapshot_directory="/snapshots"),
        "config.server.snapshot_directory is /snapshots, which is on no"),
    "store among the sources": (
        {**config(table(tiers=[{"rocksdb": {"path": "/data/words"}}])),
         "data": {"existingClaim": "words"}},
        "the rocksdb path of table words is /data/words, which is on no volume "
        "that can be written; set persistence.enabled"),
    "snapshots where nothing can be written": (
        {**server(snapshot_directory="/extra"),
         "extraVolumeMounts": [{"name": "extra", "mountPath": "/extra",
                                "readOnly": True}]},
        "config.server.snapshot_directory is /extra, which is on no volume "
        "that can be written"),
    "volumes of replicas": (
        {"mode": "replicas", "persistence": {"enabled": True}},
        "persistence.enabled gives each pod a volume of its own"),
    "scaling a statefulset": (
        {"autoscaling": {"enabled": True}},
        "autoscaling.enabled needs mode: replicas"),
    "scaling upside down": (
        {"mode": "replicas", "autoscaling": {
            "enabled": True, "minReplicas": 5, "maxReplicas": 3}},
        "autoscaling.minReplicas is 5, more than maxReplicas, 3"),
    "scaling by nothing": (
        {"mode": "replicas", "autoscaling": {
            "enabled": True, "targetCPUUtilizationPercentage": 0}},
        "autoscaling.enabled needs targetCPUUtilizationPercentage or"),
    "scaling by a part of nothing": (
        {"mode": "replicas", "autoscaling": {"enabled": True},
         "resources": {"requests": {"cpu": ""}}},
        "autoscaling.targetCPUUtilizationPercentage is a part of"),
    "nodes that cannot be drained": (
        {"podDisruptionBudget": {"maxUnavailable": 0}},
        "podDisruptionBudget.maxUnavailable is 0"),
    "impatient probe": (
        {"probes": {"readiness": {"timeoutSeconds": 5}}},
        "probes.readiness.timeoutSeconds is longer"),
    "test of a table that is not there": (
        {"test": {"table": "words"}}, "test.table is words, which is no"),
}
