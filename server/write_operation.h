// Update and Erase as Operations.
#ifndef GATHERD_SERVER_WRITE_OPERATION_H_
#define GATHERD_SERVER_WRITE_OPERATION_H_

#include <memory>

#include "server/operation.h"

namespace gatherd {

std::unique_ptr<Operation> CreateUpdateOperation(const ServingContext& context,
                                                 RpcMethod method);
std::unique_ptr<Operation> CreateEraseOperation(const ServingContext& context,
                                                RpcMethod method);

}  // namespace gatherd

#endif  // GATHERD_SERVER_WRITE_OPERATION_H_
