// The sections `server` and `log` of the configuration.
#ifndef GATHERD_SERVER_CONFIG_SERVER_H_
#define GATHERD_SERVER_CONFIG_SERVER_H_

#include <vector>

#include "server/config.h"
#include "server/config_field.h"

namespace gatherd {

const std::vector<ConfigField<ServerConfig>>& ServerFields();
const std::vector<ConfigField<LogConfig>>& LogFields();

}  // namespace gatherd

#endif  // GATHERD_SERVER_CONFIG_SERVER_H_
