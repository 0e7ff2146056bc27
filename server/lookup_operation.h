// Lookup as an Operation.
#ifndef GATHERD_SERVER_LOOKUP_OPERATION_H_
#define GATHERD_SERVER_LOOKUP_OPERATION_H_

#include <memory>

#include "server/operation.h"

namespace gatherd {

std::unique_ptr<Operation> CreateLookupOperation(const ServingContext& context,
                                                 RpcMethod method);

}  // namespace gatherd

#endif  // GATHERD_SERVER_LOOKUP_OPERATION_H_
